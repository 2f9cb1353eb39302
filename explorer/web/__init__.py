"""The pages, the server behind them, and the API."""
