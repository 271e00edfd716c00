# The Role of the example, for tests with the stand-in of a cluster.

# role [RESOURCE]: its rules as JSON, without those on RESOURCE
role() {
  python3 - "$EXAMPLES/kubernetes/role.yaml" "${1:-}" <<'END'
import json, re, sys
rules = []
for line in open(sys.argv[1]):
    if line.startswith("- {"):
        rule = {key: [word.strip().strip('"') for word in text.split(",")]
                for key, text in re.findall(r"(\w+): \[([^]]*)\]", line)}
        if sys.argv[2] not in rule["resources"]:
            rules.append(rule)
print(json.dumps(rules))
END
}

# role_rights: its rights, as the stand-in counts them
role_rights() {
  role | python3 -c '
import json, sys
print(*sorted(f"{v} {r}" for rule in json.load(sys.stdin)
              for r in rule["resources"] for v in rule["verbs"]), sep="\n")'
}

used_rights() {
  curl -sf --cacert "$KUBE/cert.pem" "$BASE/_/used" |
    python3 -c 'import json, sys; print(*json.load(sys.stdin), sep="\n")'
}
