"""Questions about answers: the cases that they divide into, and the sizes that give a wanted output."""
