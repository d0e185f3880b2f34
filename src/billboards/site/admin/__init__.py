"""What an operator needs: backups, health, logs, notices, retention, deletion on request."""
