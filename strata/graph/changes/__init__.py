"""What a change of a graph means for the threads that are paused in it: two descriptions in, findings out."""
