"""Generator of the site's pages."""
