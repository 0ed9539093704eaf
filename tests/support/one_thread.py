"""Import this before NumPy is loaded: products of matrices are made by one thread, here and in every process started from here.

The processes of the tests have the cores already: threads of their own only wait for each other. And sums come out the same,
however many cores there are.
"""

import os

for setting in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(setting, "1")
