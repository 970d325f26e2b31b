// Loads a Compose file with Compose's own parser, which also replaces variables, checks it against the specification, and
// resolves what services name. It prints the names of the services.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	options, err := cli.NewProjectOptions(os.Args[1:],
		cli.WithOsEnv, cli.WithProfiles([]string{"*"}), cli.WithName("bursar"), cli.WithInterpolation(true))
	if err == nil {
		project, loaded := options.LoadProject(context.Background())
		if err = loaded; err == nil {
			fmt.Println("compose: " + strings.Join(project.ServiceNames(), " "))
			return
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
