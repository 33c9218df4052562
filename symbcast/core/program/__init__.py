"""Programs: many operations over the same sizes, taken one after another. `symbcast.answers.public.env` is the door."""
