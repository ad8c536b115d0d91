"""Charts as SVG: each module draws one kind from plain numbers, and knows neither tables nor pages."""
