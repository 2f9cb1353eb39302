"""What is made from the code for the documentation: its generated pages and its pictures."""
