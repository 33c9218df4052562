"""OpenVINO models: every shape in them, and the exact condition under which they run."""

from symbcast.graphs.findings.findings import Finding
from symbcast.graphs.walking.walk import Unanalysed
from symbcast.openvino.check_model import check
from symbcast.openvino.report import OpenVinoReport

__all__ = ["Finding", "OpenVinoReport", "Unanalysed", "check"]
