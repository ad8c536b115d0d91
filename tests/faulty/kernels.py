"""The kernels of the hostile patterns."""

import math

import numpy as np

from xebench import kernel
from xebench import kernel_api as kapi

STEPS = 5000  # some ms, which no launch takes


@kernel
def ones(item: kapi.Item, y):
    y[item.get_id(0)] = np.float32(1)


@kernel
def count(item: kapi.Item, y):
    y[item.get_id(0)] += np.int32(1)


@kernel
def double(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = np.float32(2) * x[i]


@kernel
def double_all_but_one(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = x[i] + x[i] + np.float32(i == 7)


@kernel
def double_even(item: kapi.Item, x, y):
    i = 2 * item.get_id(0)
    y[i] = np.float32(2) * x[i]


@kernel
def double_for_ever(item: kapi.Item, x, y):
    i = item.get_id(0)
    while x[i] >= np.float32(0):
        y[i] += x[i]


@kernel
def double_where_nan(item: kapi.Item, x, y):
    i = item.get_id(0)
    if y[i] != y[i]:
        y[i] = np.float32(2) * x[i]


@kernel
def halve_in_place(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = np.float32(2) * x[i]
    x[i] = np.float32(0.5) * x[i]


@kernel
def change_last(item: kapi.Item, big):
    big[big.shape[0] - 1] = np.uint8(big[big.shape[0] - 1] ^ np.uint8(128))


@kernel
def scale(item: kapi.NdItem, x, y, factor):
    i = item.get_global_id(0)
    y[i] = np.float32(factor) * x[i]


@kernel
def much_work(item: kapi.Item, x, y):
    i = item.get_id(0)
    total = np.float32(0)
    for _ in range(STEPS):
        total = total * np.float32(0.5) + x[i]
    y[i] = total


@kernel
def sqrt(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = math.sqrt(x[i])


@kernel
def local(item: kapi.NdItem, y, slm):
    i = item.get_global_id(0)
    slm[i] = np.float32(1)
    y[i] = slm[i]


@kernel
def double_and_one_more(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = np.float32(2) * x[i]
    if i == 0:
        y[y.shape[0]] = np.float32(7)
