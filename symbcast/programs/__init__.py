"""Programs: many operations over the same sizes, taken one after another. `symbcast.env` is the door."""
