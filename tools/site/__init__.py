"""What makes the pages of the site."""
