"""JSON Schemas that the packages carry: `python -m kraft_dev.schemas` writes them anew."""
