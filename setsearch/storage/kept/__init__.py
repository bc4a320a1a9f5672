"""What is kept of items beside their features: texts, columns, records, numbers, vectors; and conditions on columns."""
