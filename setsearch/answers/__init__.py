"""What comes back: readings that are asked, hits, reasons, passages, pictures, and saved sets."""
