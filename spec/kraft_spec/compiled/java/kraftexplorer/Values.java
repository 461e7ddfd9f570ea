package kraftexplorer;

/** What compiled TLA+ needs at run time: the operators of the language and of its standard modules. */
public final class Values extends Sets {
  private Values() {}
}
