"""Programs: many operations over the same sizes, one after another. The interface is `symbcast.answers.public.env`."""
