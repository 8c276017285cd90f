"""The command line: parse, call the API of the same name, print."""
