"""The Spark engine: the same work, handed to Apache Spark."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.releases.engines.spark.engine import SparkEngine as SparkEngine
    from noisewright.releases.engines.spark.session import start_spark as start_spark
    from noisewright.releases.engines.spark.shipping import carrying as carrying
    from noisewright.releases.engines.spark.shipping import ship as ship
else:
    __getattr__, __dir__ = door(__name__)
