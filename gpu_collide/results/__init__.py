"""What queries return, how it is kept in files, and what holds of it whatever was asked."""
