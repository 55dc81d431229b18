/** The command line; the only place that wires things together. */
