"""xebench: does the advice of the oneAPI GPU Optimization Guide hold on this device, and by how much?"""
