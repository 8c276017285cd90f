"""Evaluate PyTorch modules, trained row by row. Each fold initialises its own weights."""

from functools import partial

import torch
from torch import nn

import streamgauge as sg
from streamgauge.learners import Torch

network = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
results = sg.evaluate(
    sg.SEA(n_rows=1_000),
    {
        "linear": nn.Linear(3, 2),
        "network": Torch(network, partial(torch.optim.Adam, lr=0.01), nn.CrossEntropyLoss()),
        "network, 10 rows at once": Torch(network, partial(torch.optim.Adam, lr=0.01), chunk_size=10),
    },
)
for name in results.learners:
    print(f"accuracy of {name}: {results.curve(name, 'accuracy')[-1].mean():.3f}")
