// The adapter as a program.  Put your own implementation of Replica in the place of the Voter.
package main

import "os"

func main() {
	if err := Serve(&Voter{}, os.Stdin, os.Stdout); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}
