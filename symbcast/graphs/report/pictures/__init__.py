"""Pictures of models: the graph with shapes on its edges, folded into blocks, as one HTML page."""
