"""What becomes of an answer: digest, file, and the ledger, in this order."""
