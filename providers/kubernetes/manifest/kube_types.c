/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields that pods and Jobs may have: the OpenAPI document of Kubernetes,
 * release 1.36 (github.com/kubernetes/kubernetes,
 * api/openapi-spec/swagger.json), with its keys of strategic merges.
 * core/job/body.h explains the rows.
 */
#include "providers/kubernetes/manifest/kube_types.h"

#include "core/base/alloc.h"

/* clang-format off */
static const struct body_type types[] = {
	{ "PodTemplateSpec",
	  "metadata:ObjectMeta spec:PodSpec" },
	{ "ObjectMeta",
	  "annotations:{s} creationTimestamp "
	  "deletionGracePeriodSeconds:i deletionTimestamp "
	  "finalizers:[s] generateName generation:i labels:{s} "
	  "managedFields:[ManagedFieldsEntry] name namespace "
	  "ownerReferences:[OwnerReference]@uid resourceVersion "
	  "selfLink uid" },
	{ "ManagedFieldsEntry",
	  "apiVersion fieldsType fieldsV1:* manager operation "
	  "subresource time" },
	{ "OwnerReference",
	  "apiVersion blockOwnerDeletion:b controller:b kind name uid" },
	{ "PodSpec",
	  "activeDeadlineSeconds:i affinity:Affinity "
	  "automountServiceAccountToken:b containers:[Container]@name "
	  "dnsConfig:PodDNSConfig dnsPolicy enableServiceLinks:b "
	  "ephemeralContainers:[EphemeralContainer]@name "
	  "hostAliases:[HostAlias]@ip hostIPC:b hostNetwork:b "
	  "hostPID:b hostUsers:b hostname hostnameOverride "
	  "imagePullSecrets:[LocalObjectReference]@name "
	  "initContainers:[Container]@name nodeName nodeSelector:{s} "
	  "os:PodOS overhead:{q} preemptionPolicy priority:i "
	  "priorityClassName readinessGates:[PodReadinessGate] "
	  "resourceClaims:[PodResourceClaim]@name "
	  "resources:ResourceRequirements restartPolicy "
	  "runtimeClassName schedulerName "
	  "schedulingGates:[PodSchedulingGate]@name "
	  "schedulingGroup:PodSchedulingGroup "
	  "securityContext:PodSecurityContext serviceAccount "
	  "serviceAccountName setHostnameAsFQDN:b "
	  "shareProcessNamespace:b subdomain "
	  "terminationGracePeriodSeconds:i tolerations:[Toleration] "
	  "topologySpreadConstraints:[TopologySpreadConstraint]@topologyKey "
	  "volumes:[Volume]@name" },
	{ "Affinity",
	  "nodeAffinity:NodeAffinity podAffinity:PodAffinity "
	  "podAntiAffinity:PodAntiAffinity" },
	{ "NodeAffinity",
	  "preferredDuringSchedulingIgnoredDuringExecution:[PreferredSchedulingTerm] "
	  "requiredDuringSchedulingIgnoredDuringExecution:NodeSelector" },
	{ "PreferredSchedulingTerm",
	  "preference:NodeSelectorTerm weight:i" },
	{ "NodeSelectorTerm",
	  "matchExpressions:[NodeSelectorRequirement] "
	  "matchFields:[NodeSelectorRequirement]" },
	{ "NodeSelectorRequirement",
	  "key operator values:[s]" },
	{ "NodeSelector",
	  "nodeSelectorTerms:[NodeSelectorTerm]" },
	{ "PodAffinity",
	  "preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm] "
	  "requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm]" },
	{ "WeightedPodAffinityTerm",
	  "podAffinityTerm:PodAffinityTerm weight:i" },
	{ "PodAffinityTerm",
	  "labelSelector:LabelSelector matchLabelKeys:[s] "
	  "mismatchLabelKeys:[s] namespaceSelector:LabelSelector "
	  "namespaces:[s] topologyKey" },
	{ "LabelSelector",
	  "matchExpressions:[LabelSelectorRequirement] "
	  "matchLabels:{s}" },
	{ "LabelSelectorRequirement",
	  "key operator values:[s]" },
	{ "PodAntiAffinity",
	  "preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm] "
	  "requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm]" },
	{ "Container",
	  "args:[s] command:[s] env:[EnvVar]@name "
	  "envFrom:[EnvFromSource] image imagePullPolicy "
	  "lifecycle:Lifecycle livenessProbe:Probe name "
	  "ports:[ContainerPort]@containerPort readinessProbe:Probe "
	  "resizePolicy:[ContainerResizePolicy] "
	  "resources:ResourceRequirements restartPolicy "
	  "restartPolicyRules:[ContainerRestartRule] "
	  "securityContext:SecurityContext startupProbe:Probe stdin:b "
	  "stdinOnce:b terminationMessagePath "
	  "terminationMessagePolicy tty:b "
	  "volumeDevices:[VolumeDevice]@devicePath "
	  "volumeMounts:[VolumeMount]@mountPath workingDir" },
	{ "EnvVar",
	  "name value valueFrom:EnvVarSource" },
	{ "EnvVarSource",
	  "configMapKeyRef:ConfigMapKeySelector "
	  "fieldRef:ObjectFieldSelector fileKeyRef:FileKeySelector "
	  "resourceFieldRef:ResourceFieldSelector "
	  "secretKeyRef:SecretKeySelector" },
	{ "ConfigMapKeySelector",
	  "key name optional:b" },
	{ "ObjectFieldSelector",
	  "apiVersion fieldPath" },
	{ "FileKeySelector",
	  "key optional:b path volumeName" },
	{ "ResourceFieldSelector",
	  "containerName divisor:q resource" },
	{ "SecretKeySelector",
	  "key name optional:b" },
	{ "EnvFromSource",
	  "configMapRef:ConfigMapEnvSource prefix "
	  "secretRef:SecretEnvSource" },
	{ "ConfigMapEnvSource",
	  "name optional:b" },
	{ "SecretEnvSource",
	  "name optional:b" },
	{ "Lifecycle",
	  "postStart:LifecycleHandler preStop:LifecycleHandler "
	  "stopSignal" },
	{ "LifecycleHandler",
	  "exec:ExecAction httpGet:HTTPGetAction sleep:SleepAction "
	  "tcpSocket:TCPSocketAction" },
	{ "ExecAction",
	  "command:[s]" },
	{ "HTTPGetAction",
	  "host httpHeaders:[HTTPHeader] path port:w scheme" },
	{ "HTTPHeader",
	  "name value" },
	{ "SleepAction",
	  "seconds:i" },
	{ "TCPSocketAction",
	  "host port:w" },
	{ "Probe",
	  "exec:ExecAction failureThreshold:i grpc:GRPCAction "
	  "httpGet:HTTPGetAction initialDelaySeconds:i "
	  "periodSeconds:i successThreshold:i "
	  "tcpSocket:TCPSocketAction terminationGracePeriodSeconds:i "
	  "timeoutSeconds:i" },
	{ "GRPCAction",
	  "port:i service" },
	{ "ContainerPort",
	  "containerPort:i hostIP hostPort:i name protocol" },
	{ "ContainerResizePolicy",
	  "resourceName restartPolicy" },
	{ "ResourceRequirements",
	  "claims:[ResourceClaim] limits:{q} requests:{q}" },
	{ "ResourceClaim",
	  "name request" },
	{ "ContainerRestartRule",
	  "action exitCodes:ContainerRestartRuleOnExitCodes" },
	{ "ContainerRestartRuleOnExitCodes",
	  "operator values:[i]" },
	{ "SecurityContext",
	  "allowPrivilegeEscalation:b appArmorProfile:AppArmorProfile "
	  "capabilities:Capabilities privileged:b procMount "
	  "readOnlyRootFilesystem:b runAsGroup:i runAsNonRoot:b "
	  "runAsUser:i seLinuxOptions:SELinuxOptions "
	  "seccompProfile:SeccompProfile "
	  "windowsOptions:WindowsSecurityContextOptions" },
	{ "AppArmorProfile",
	  "localhostProfile type" },
	{ "Capabilities",
	  "add:[s] drop:[s]" },
	{ "SELinuxOptions",
	  "level role type user" },
	{ "SeccompProfile",
	  "localhostProfile type" },
	{ "WindowsSecurityContextOptions",
	  "gmsaCredentialSpec gmsaCredentialSpecName hostProcess:b "
	  "runAsUserName" },
	{ "VolumeDevice",
	  "devicePath name" },
	{ "VolumeMount",
	  "mountPath mountPropagation name readOnly:b "
	  "recursiveReadOnly subPath subPathExpr" },
	{ "PodDNSConfig",
	  "nameservers:[s] options:[PodDNSConfigOption] searches:[s]" },
	{ "PodDNSConfigOption",
	  "name value" },
	{ "EphemeralContainer",
	  "args:[s] command:[s] env:[EnvVar]@name "
	  "envFrom:[EnvFromSource] image imagePullPolicy "
	  "lifecycle:Lifecycle livenessProbe:Probe name "
	  "ports:[ContainerPort]@containerPort readinessProbe:Probe "
	  "resizePolicy:[ContainerResizePolicy] "
	  "resources:ResourceRequirements restartPolicy "
	  "restartPolicyRules:[ContainerRestartRule] "
	  "securityContext:SecurityContext startupProbe:Probe stdin:b "
	  "stdinOnce:b targetContainerName terminationMessagePath "
	  "terminationMessagePolicy tty:b "
	  "volumeDevices:[VolumeDevice]@devicePath "
	  "volumeMounts:[VolumeMount]@mountPath workingDir" },
	{ "HostAlias",
	  "hostnames:[s] ip" },
	{ "LocalObjectReference",
	  "name" },
	{ "PodOS",
	  "name" },
	{ "PodReadinessGate",
	  "conditionType" },
	{ "PodResourceClaim",
	  "name resourceClaimName resourceClaimTemplateName" },
	{ "PodSchedulingGate",
	  "name" },
	{ "PodSchedulingGroup",
	  "podGroupName" },
	{ "PodSecurityContext",
	  "appArmorProfile:AppArmorProfile fsGroup:i "
	  "fsGroupChangePolicy runAsGroup:i runAsNonRoot:b "
	  "runAsUser:i seLinuxChangePolicy "
	  "seLinuxOptions:SELinuxOptions "
	  "seccompProfile:SeccompProfile supplementalGroups:[i] "
	  "supplementalGroupsPolicy sysctls:[Sysctl] "
	  "windowsOptions:WindowsSecurityContextOptions" },
	{ "Sysctl",
	  "name value" },
	{ "Toleration",
	  "effect key operator tolerationSeconds:i value" },
	{ "TopologySpreadConstraint",
	  "labelSelector:LabelSelector matchLabelKeys:[s] maxSkew:i "
	  "minDomains:i nodeAffinityPolicy nodeTaintsPolicy "
	  "topologyKey whenUnsatisfiable" },
	{ "Volume",
	  "awsElasticBlockStore:AWSElasticBlockStoreVolumeSource "
	  "azureDisk:AzureDiskVolumeSource "
	  "azureFile:AzureFileVolumeSource cephfs:CephFSVolumeSource "
	  "cinder:CinderVolumeSource configMap:ConfigMapVolumeSource "
	  "csi:CSIVolumeSource downwardAPI:DownwardAPIVolumeSource "
	  "emptyDir:EmptyDirVolumeSource "
	  "ephemeral:EphemeralVolumeSource fc:FCVolumeSource "
	  "flexVolume:FlexVolumeSource flocker:FlockerVolumeSource "
	  "gcePersistentDisk:GCEPersistentDiskVolumeSource "
	  "gitRepo:GitRepoVolumeSource "
	  "glusterfs:GlusterfsVolumeSource "
	  "hostPath:HostPathVolumeSource image:ImageVolumeSource "
	  "iscsi:ISCSIVolumeSource name nfs:NFSVolumeSource "
	  "persistentVolumeClaim:PersistentVolumeClaimVolumeSource "
	  "photonPersistentDisk:PhotonPersistentDiskVolumeSource "
	  "portworxVolume:PortworxVolumeSource "
	  "projected:ProjectedVolumeSource "
	  "quobyte:QuobyteVolumeSource rbd:RBDVolumeSource "
	  "scaleIO:ScaleIOVolumeSource secret:SecretVolumeSource "
	  "storageos:StorageOSVolumeSource "
	  "vsphereVolume:VsphereVirtualDiskVolumeSource" },
	{ "AWSElasticBlockStoreVolumeSource",
	  "fsType partition:i readOnly:b volumeID" },
	{ "AzureDiskVolumeSource",
	  "cachingMode diskName diskURI fsType kind readOnly:b" },
	{ "AzureFileVolumeSource",
	  "readOnly:b secretName shareName" },
	{ "CephFSVolumeSource",
	  "monitors:[s] path readOnly:b secretFile "
	  "secretRef:LocalObjectReference user" },
	{ "CinderVolumeSource",
	  "fsType readOnly:b secretRef:LocalObjectReference volumeID" },
	{ "ConfigMapVolumeSource",
	  "defaultMode:i items:[KeyToPath] name optional:b" },
	{ "KeyToPath",
	  "key mode:i path" },
	{ "CSIVolumeSource",
	  "driver fsType nodePublishSecretRef:LocalObjectReference "
	  "readOnly:b volumeAttributes:{s}" },
	{ "DownwardAPIVolumeSource",
	  "defaultMode:i items:[DownwardAPIVolumeFile]" },
	{ "DownwardAPIVolumeFile",
	  "fieldRef:ObjectFieldSelector mode:i path "
	  "resourceFieldRef:ResourceFieldSelector" },
	{ "EmptyDirVolumeSource",
	  "medium sizeLimit:q" },
	{ "EphemeralVolumeSource",
	  "volumeClaimTemplate:PersistentVolumeClaimTemplate" },
	{ "PersistentVolumeClaimTemplate",
	  "metadata:ObjectMeta spec:PersistentVolumeClaimSpec" },
	{ "PersistentVolumeClaimSpec",
	  "accessModes:[s] dataSource:TypedLocalObjectReference "
	  "dataSourceRef:TypedObjectReference "
	  "resources:VolumeResourceRequirements "
	  "selector:LabelSelector storageClassName "
	  "volumeAttributesClassName volumeMode volumeName" },
	{ "TypedLocalObjectReference",
	  "apiGroup kind name" },
	{ "TypedObjectReference",
	  "apiGroup kind name namespace" },
	{ "VolumeResourceRequirements",
	  "limits:{q} requests:{q}" },
	{ "FCVolumeSource",
	  "fsType lun:i readOnly:b targetWWNs:[s] wwids:[s]" },
	{ "FlexVolumeSource",
	  "driver fsType options:{s} readOnly:b "
	  "secretRef:LocalObjectReference" },
	{ "FlockerVolumeSource",
	  "datasetName datasetUUID" },
	{ "GCEPersistentDiskVolumeSource",
	  "fsType partition:i pdName readOnly:b" },
	{ "GitRepoVolumeSource",
	  "directory repository revision" },
	{ "GlusterfsVolumeSource",
	  "endpoints path readOnly:b" },
	{ "HostPathVolumeSource",
	  "path type" },
	{ "ImageVolumeSource",
	  "pullPolicy reference" },
	{ "ISCSIVolumeSource",
	  "chapAuthDiscovery:b chapAuthSession:b fsType initiatorName "
	  "iqn iscsiInterface lun:i portals:[s] readOnly:b "
	  "secretRef:LocalObjectReference targetPortal" },
	{ "NFSVolumeSource",
	  "path readOnly:b server" },
	{ "PersistentVolumeClaimVolumeSource",
	  "claimName readOnly:b" },
	{ "PhotonPersistentDiskVolumeSource",
	  "fsType pdID" },
	{ "PortworxVolumeSource",
	  "fsType readOnly:b volumeID" },
	{ "ProjectedVolumeSource",
	  "defaultMode:i sources:[VolumeProjection]" },
	{ "VolumeProjection",
	  "clusterTrustBundle:ClusterTrustBundleProjection "
	  "configMap:ConfigMapProjection "
	  "downwardAPI:DownwardAPIProjection "
	  "podCertificate:PodCertificateProjection "
	  "secret:SecretProjection "
	  "serviceAccountToken:ServiceAccountTokenProjection" },
	{ "ClusterTrustBundleProjection",
	  "labelSelector:LabelSelector name optional:b path "
	  "signerName" },
	{ "ConfigMapProjection",
	  "items:[KeyToPath] name optional:b" },
	{ "DownwardAPIProjection",
	  "items:[DownwardAPIVolumeFile]" },
	{ "PodCertificateProjection",
	  "certificateChainPath credentialBundlePath keyPath keyType "
	  "maxExpirationSeconds:i signerName userAnnotations:{s}" },
	{ "SecretProjection",
	  "items:[KeyToPath] name optional:b" },
	{ "ServiceAccountTokenProjection",
	  "audience expirationSeconds:i path" },
	{ "QuobyteVolumeSource",
	  "group readOnly:b registry tenant user volume" },
	{ "RBDVolumeSource",
	  "fsType image keyring monitors:[s] pool readOnly:b "
	  "secretRef:LocalObjectReference user" },
	{ "ScaleIOVolumeSource",
	  "fsType gateway protectionDomain readOnly:b "
	  "secretRef:LocalObjectReference sslEnabled:b storageMode "
	  "storagePool system volumeName" },
	{ "SecretVolumeSource",
	  "defaultMode:i items:[KeyToPath] optional:b secretName" },
	{ "StorageOSVolumeSource",
	  "fsType readOnly:b secretRef:LocalObjectReference "
	  "volumeName volumeNamespace" },
	{ "VsphereVirtualDiskVolumeSource",
	  "fsType storagePolicyID storagePolicyName volumePath" },
	{ "Job",
	  "apiVersion kind metadata:ObjectMeta spec:JobSpec "
	  "status:JobStatus" },
	{ "JobSpec",
	  "activeDeadlineSeconds:i backoffLimit:i "
	  "backoffLimitPerIndex:i completionMode completions:i "
	  "managedBy manualSelector:b maxFailedIndexes:i "
	  "parallelism:i podFailurePolicy:PodFailurePolicy "
	  "podReplacementPolicy selector:LabelSelector "
	  "successPolicy:SuccessPolicy suspend:b "
	  "template:PodTemplateSpec ttlSecondsAfterFinished:i" },
	{ "PodFailurePolicy",
	  "rules:[PodFailurePolicyRule]" },
	{ "PodFailurePolicyRule",
	  "action onExitCodes:PodFailurePolicyOnExitCodesRequirement "
	  "onPodConditions:[PodFailurePolicyOnPodConditionsPattern]" },
	{ "PodFailurePolicyOnExitCodesRequirement",
	  "containerName operator values:[i]" },
	{ "PodFailurePolicyOnPodConditionsPattern",
	  "status type" },
	{ "SuccessPolicy",
	  "rules:[SuccessPolicyRule]" },
	{ "SuccessPolicyRule",
	  "succeededCount:i succeededIndexes" },
	{ "JobStatus",
	  "active:i completedIndexes completionTime "
	  "conditions:[JobCondition]@type failed:i failedIndexes "
	  "ready:i startTime succeeded:i terminating:i "
	  "uncountedTerminatedPods:UncountedTerminatedPods" },
	{ "JobCondition",
	  "lastProbeTime lastTransitionTime message reason status "
	  "type" },
	{ "UncountedTerminatedPods",
	  "failed:[s] succeeded:[s]" },
};

const struct body_types kube_types = {
	.items = types,
	.count = COUNT(types),
};
