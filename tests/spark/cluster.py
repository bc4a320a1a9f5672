"""A real Spark in this process, and a real cluster of processes."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

os.environ["PYSPARK_PYTHON"] = sys.executable
FEW = {  # data are few: what Spark does to be fast with many takes longer than the work
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


def start(master, **more):
    builder = SparkSession.builder.master(master).appName("tests")
    for key, value in (FEW | more).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


class Cluster:
    """One master and workers of one core each, from the files of the pyspark package, on loopback."""

    def __init__(self, folder, workers=2):
        self.folder = folder
        self.port, self.page = free_port(), free_port()
        self.url = f"spark://127.0.0.1:{self.port}"
        self.processes = []
        self._start("master.Master", "--port", str(self.port), "--webui-port", str(self.page))
        self._wait(lambda state: True)
        self.workers = [self.add_worker(number) for number in range(workers)]
        self._wait(lambda state: state["aliveworkers"] == workers)

    def add_worker(self, number):
        place = self.folder / f"worker{number}"
        return self._start("worker.Worker", self.url, "-c", "1", "-m", "1g", "--webui-port", "0", "-d", str(place))

    def _start(self, name, *arguments):
        home = Path(pyspark.__file__).parent
        command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1", *arguments]
        surroundings = os.environ | {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
        log = (self.folder / f"{name}{len(self.processes)}.log").open("w")
        process = subprocess.Popen(command, stdout=log, stderr=log, env=surroundings, start_new_session=True)
        log.close()
        self.processes.append(process)
        return process

    def _wait(self, reached):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.page}/json/", timeout=5) as answer:
                    if reached(json.load(answer)):
                        return
            except OSError:
                pass
            time.sleep(0.2)
        raise AssertionError("\n".join(log.read_text()[-2000:] for log in self.folder.glob("*.log")))

    def kill(self, process):
        """End a worker and its executors at once, as a power cut does."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self):
        for process in self.processes:
            if process.poll() is None:
                self.kill(process)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
