"""Programs about xebench: experiments on it, and the pages that are made from code and data."""
