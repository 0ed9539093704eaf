"""What is measured of others: one file for each peer, run in the environment that ``bench/peers.txt`` describes."""
