kernel void no_loop_in_item(global const float *dx, global const float *u, global float *w) {
    const uint n = get_global_id(0), k = n % P, j = n / P % P, i = n / (P * P) % P, block = n / CUBE * CUBE;
    float ur = 0.0f, us = 0.0f, ut = 0.0f;
    for (uint m = 0; m < P; ++m) {
        ur += dx[i * P + m] * u[block + m * P * P + j * P + k];
        us += dx[k * P + m] * u[block + i * P * P + m * P + k];
        ut += dx[j * P + m] * u[block + i * P * P + j * P + m];
    }
    w[n] = ur * us * ut;
}
