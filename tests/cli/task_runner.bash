# Tasks as a batch system starts them, without one: `jobrun launch --run`.

# runner_folder FILE: the folder R of a run, as the job FILE has it.
runner_folder() {
  JOBRUN_STATE_DIR=$TMP/made "$JOBRUN" apply --detach "$1" >/dev/null
  local id
  id=$(sed -n 's/^jobId: //p' "$1")
  wait_until 20 test -s "$TMP/made/runs/$id.1/spec.json"
  JOBRUN_STATE_DIR=$TMP/made "$JOBRUN" cancel --now "$id" >/dev/null || true
  mkdir -p "$TMP/R"
  cp "$TMP/made/runs/$id.1/spec.json" "$TMP/R/"
  echo '{}' >"$TMP/R/secrets.json"
  rm -f "$TMP/pid"
}

# runner_task I COUNT: becomes task I of COUNT, all of them on this machine.
runner_task() {
  exec env SLURM_JOB_ID=7 SLURM_PROCID="$1" SLURM_NTASKS="$2" SLURM_NODEID=0 \
    SLURM_STEP_NODELIST=localhost SLURM_STEP_TASKS_PER_NODE="$2" \
    SLURM_LOCALID="$1" "$JOBRUN" launch --from slurm --run "$TMP/R"
}
