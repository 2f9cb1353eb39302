"""What is the matter: with a number, or with data; each a pure function that ends in findings."""
