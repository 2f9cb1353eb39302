"""LossPrism for programs: HTTP endpoints and MCP tools."""
