"""Rows about pictures: windows by likeness against their enumeration, single pixels, files apart, and faces."""

from __future__ import annotations

from bench.rows import MB, Row, Task

__all__ = ["ROWS"]

WAY = "pixel_windows(window=3, levels=4), from pixels to pixels, against weighing all 262,144 windows one by one, in floats"

ROWS = [
    *(
        Row(
            name=f"SSIM windows vs enumeration, blocks of {block}, epsilon' {rate / 1000:g}",
            compares=WAY,
            size="512 x 512 pixels in colour",
            ours=Task("bench.ours.images:windows", {"side": 512, "block": block, "rate": rate}, {"side": 128}),
            peer=Task(
                "bench.ours.images:enumeration",
                {"side": 512, "block": block, "rate": rate, "few": 8},
                {"side": 512, "few": 2},
            ),
            target=100,
            agree=float("inf"),
            unit="pixels",
            own_peer=True,
            memory_limit=200 * MB,
            least_rate=1e6 if block == 16 else None,
        )
        for block, rate in ((16, 1500), (16, 6000), (1, 1500))
    ),
    *(
        Row(
            name=f"single pixels, {kind}",
            compares=f"pixel_{kind} without blocks, exact draws, from pixels to pixels in memory; no peer draws exactly",
            size="2048 x 2048 pixels in colour",
            ours=Task("bench.ours.images:pixels", {"kind": kind, "side": 2048, "share": 5}, {"side": 256}),
            unit="pixels",
            memory_limit=600 * MB,
            least_rate=8e6,
        )
        for kind in ("laplace", "exponential")
    ),
    Row(
        name="files of noisy pictures",
        compares="a PNG file without metadata, written and read again; apart, because it takes longer than the noise",
        size="1024 x 1024 pixels in colour",
        ours=Task("bench.ours.images:files", {"side": 1024}, {"side": 256}),
        unit="pixels",
    ),
    *(
        Row(
            name=f"faces by noisy codes, {together} together",
            compares="encoded by eigenfaces, exact noise on 32 components, decoded; from pixels to pixels in memory",
            size="128 x 128 pixels in colour",
            ours=Task("bench.ours.images:faces", {"side": 128, "together": together}, {"side": 24, "together": 2}),
            unit="faces",
            memory_limit=400 * MB,
            least_rate=20 if together == 1 else None,
        )
        for together in (1, 8, 64)
    ),
    *(
        Row(
            name=f"faces by an auto-encoder, {together} together",
            compares="encoded by convolutions, exact noise on 32 components, decoded; from pixels to pixels in memory; PyTorch",
            size="128 x 128 pixels in colour",
            ours=Task("bench.ours.images:network", {"side": 128, "together": together}, {"side": 16, "together": 2}),
            unit="faces",
            memory_limit=1500 * MB,
            least_rate=20 if together == 1 else None,
        )
        for together in (1, 8, 64)
    ),
    Row(
        name="a folder of 10,000 faces",
        compares="images obfuscate --method faces: PNG files to PNG files, by the model that comes along",
        size="10,000 files of 48 x 48 pixels in colour",
        ours=Task("bench.ours.images:folder_of_faces", {"many": 10_000}, {"many": 20}),
        unit="faces",
        rounds=1,
        memory_limit=100 * MB,
    ),
]
