"""Scenario, batch, trace and exploration, and the metrics and remarks of one."""
