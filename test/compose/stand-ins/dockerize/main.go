// Fills in a template from the environment, as far as the image of Temporal's server asks for it: dockerize -template FROM:TO
package main

import (
	"os"
	"strings"
	"text/template"
)

func main() {
	from, to, _ := strings.Cut(os.Args[2], ":")
	env := map[string]string{}
	for _, each := range os.Environ() {
		name, value, _ := strings.Cut(each, "=")
		env[name] = value
	}
	functions := template.FuncMap{
		// A variable that is not set arrives as nil.
		"default": func(value any, other any) any {
			if value == nil {
				return other
			}
			return value
		},
		"lower": strings.ToLower,
		"split": strings.Split,
		"trim":  strings.TrimSpace,
	}
	text, err := os.ReadFile(from)
	must(err)
	filled, err := template.New("").Funcs(functions).Parse(string(text))
	must(err)
	file, err := os.Create(to)
	must(err)
	must(filled.Execute(file, map[string]any{"Env": env}))
	must(file.Close())
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
