// Temporal's dev server without the rest of its command line: `temporal server start-dev` with the options that trustflow-dev and
// the SDK's test environment use. It is built inside the module of Temporal's CLI (src/servers/build-temporal.ts).
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/google/uuid"
	"github.com/temporalio/cli/internal/devserver"
	"github.com/temporalio/ui-server/v2/server/version"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/headers"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "--version":
		fmt.Printf("temporal version dev server (Server %s, UI %s)\n", headers.ServerVersion, version.UIVersion)
		return nil
	case len(args) < 2 || args[0] != "server" || args[1] != "start-dev":
		return fmt.Errorf("this program has only --version and server start-dev")
	}
	options, err := parse(args[2:])
	if err != nil {
		return err
	}
	server, err := devserver.Start(options)
	if err != nil {
		return err
	}
	defer server.Stop()
	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt, syscall.SIGTERM)
	<-end
	return nil
}

// Options NAME=VALUE, each of which may be given many times.
type pairs map[string]string

func (all pairs) String() string { return "" }

func (all pairs) Set(text string) error {
	name, value, found := strings.Cut(text, "=")
	if !found {
		return fmt.Errorf("must be NAME=VALUE")
	}
	all[name] = value
	return nil
}

func parse(args []string) (options devserver.StartOptions, err error) {
	options = devserver.StartOptions{
		ClusterID:              uuid.NewString(),
		MasterClusterName:      "active",
		CurrentClusterName:     "active",
		InitialFailoverVersion: 1,
		UIDisableNewsFetch:     true,
		SearchAttributes:       map[string]enums.IndexedValueType{},
		// A search attribute can be used as soon as it is registered; reading it each time needs the higher limits.
		DynamicConfigValues: map[string]any{
			"system.forceSearchAttributesCacheRefreshOnRead": true,
			"frontend.persistenceMaxQPS":                     10_000,
			"history.persistenceMaxQPS":                      45_000,
		},
	}
	flags := flag.NewFlagSet("server start-dev", flag.ContinueOnError)
	flags.StringVar(&options.FrontendIP, "ip", "127.0.0.1", "")
	flags.IntVar(&options.FrontendPort, "port", 7233, "")
	flags.IntVar(&options.UIPort, "ui-port", 8233, "")
	flags.StringVar(&options.DatabaseFile, "db-filename", "", "")
	headless := flags.Bool("headless", false, "")
	namespace := flags.String("namespace", "default", "")
	level := flags.String("log-level", "warn", "")
	flags.String("log-format", "json", "always json")
	envFile := flags.String("env-file", "", "")
	env := flags.String("env", "default", "")
	attributes, settings := pairs{}, pairs{}
	flags.Var(attributes, "search-attribute", "")
	flags.Var(settings, "dynamic-config-value", "")
	if err = flags.Parse(args); err != nil {
		return
	}
	if !*headless {
		options.UIIP = options.FrontendIP
	}
	options.Namespaces = []string{"default"}
	if *namespace != "default" {
		options.Namespaces = append(options.Namespaces, *namespace)
	}
	if *level == "never" {
		options.LogLevel = slog.LevelError + 1
	} else if err = options.LogLevel.UnmarshalText([]byte(*level)); err != nil {
		return
	}
	options.Logger = slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: options.LogLevel}))
	for name, kind := range attributes {
		value, known := enums.IndexedValueType_shorthandValue[kind]
		if !known {
			return options, fmt.Errorf("search-attribute %s: unknown type %q", name, kind)
		}
		options.SearchAttributes[name] = enums.IndexedValueType(value)
	}
	for name, text := range settings {
		if options.DynamicConfigValues[name], err = settingOf(text); err != nil {
			return options, fmt.Errorf("dynamic-config-value %s: %w", name, err)
		}
	}
	if *envFile != "" {
		options.UICodecEndpoint, err = codecEndpointIn(*envFile, *env)
	}
	return
}

// Reads a JSON value; the server wants whole numbers as int.
func settingOf(text string) (value any, err error) {
	err = json.Unmarshal([]byte(text), &value)
	if number, isNumber := value.(float64); isNumber && number == float64(int(number)) {
		value = int(number)
	}
	return
}

// Reads the one setting that is no argument, because its path holds a token.
func codecEndpointIn(file, env string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var settings struct{ Env map[string]map[string]string }
	err = json.Unmarshal(content, &settings)
	return settings.Env[env]["ui-codec-endpoint"], err
}
