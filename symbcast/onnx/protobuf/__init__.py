"""What is read from protobuf: graphs, nodes, constants, types and functions."""
