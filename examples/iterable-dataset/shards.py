"""This process's share of a data set of its job, as an IterableDataset.

Each sample comes with the worker that read it and its number in that worker's
stream. The numbers that were trained on last are the state: from it, another
run reads exactly the rest of the epoch, whatever its number of processes and
workers.
"""

import os
import shlex
import subprocess
import tarfile

from torch.utils.data import IterableDataset, get_worker_info


def samples(stream):
    """The samples of a tar file: {"key": ..., "jpg": bytes, ...}"""
    if not stream.peek(1):
        return  # nothing is left of this share
    with tarfile.open(fileobj=stream, mode="r|") as shards:
        sample = None
        for member in shards:
            folder, base = os.path.split(member.name)
            base, _, part = base.partition(".")
            key = os.path.join(folder, base)
            if sample and sample["key"] != key:
                yield sample
                sample = None
            sample = sample or {"key": key}
            sample[part] = shards.extractfile(member).read()
        if sample:
            yield sample


class Shards(IterableDataset):
    def __init__(self, name, workers):
        command = os.environ[f"JOBRUN_DATA_{name.upper()}_STREAM"]
        self.command, self.workers = shlex.split(command), max(workers, 1)

    def of_worker(self, worker):
        return [*self.command, "--consumer", f"{worker}/{self.workers}"]

    def __iter__(self):
        info = get_worker_info()
        worker = info.id if info else 0
        with subprocess.Popen(self.of_worker(worker),
                              stdout=subprocess.PIPE) as stream:
            for number, sample in enumerate(samples(stream.stdout), 1):
                yield worker, number, sample
        # Only this says whether what came was all.
        if stream.returncode:
            raise RuntimeError(f"{stream.args}: {stream.returncode}")

    def state(self, taken):
        """What to save: `taken` has the last number of each worker."""
        return b"".join(
            subprocess.check_output([*self.of_worker(worker), "--taken",
                                     str(taken.get(worker, 0))])
            for worker in range(self.workers))
