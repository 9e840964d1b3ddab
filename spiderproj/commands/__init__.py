"""What a person types: ``scrapy crawl`` with our exit statuses, and the commands that read a stored crawl."""
