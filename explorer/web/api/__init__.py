"""What LossPrism computes, for programs: HTTP endpoints and MCP tools."""
