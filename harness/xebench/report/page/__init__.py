"""What the HTML report says of a run: each module makes one part of the page from the tables."""
