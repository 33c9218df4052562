"""Programs: many operations over the same sizes, taken one after another. `symbcast.api.env` is the door."""
