"""Trains in all processes of a run by gloo, for a command test: each says its
ranks, and the sum of all ranks."""
import os
import torch
import torch.distributed as dist

# Elsewhere gloo looks up the name of the machine.
os.environ["GLOO_SOCKET_IFNAME"] = "lo"
dist.init_process_group("gloo")
rank = torch.tensor([float(dist.get_rank())])
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
model(rank).sum().backward()
dist.all_reduce(rank)
print("rank %d of %d, %s of %s in group %s: sum %d" % (
    dist.get_rank(), dist.get_world_size(), os.environ["LOCAL_RANK"],
    os.environ["LOCAL_WORLD_SIZE"], os.environ["GROUP_RANK"], rank.item()))
# Without that torch may abort at its end, when a peer has closed first.
dist.barrier()
dist.destroy_process_group()
