// Measures the substitution of clusterctl on a template; see ../substitution.sh, which runs it.
//
// usage: substitution library|pipeline FILE SECONDS < VALUES
//
//	library   github.com/drone/envsubst/v2: parse and execute
//	pipeline  what clusterctl does with a template, its checks included
//
// VALUES are lines NAME=VALUE. Prints the shortest and the median wall time of a run and the mean processor time, all
// threads together, in nanoseconds, and the SHA-256 of the result.
package main

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/drone/envsubst/v2"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/yamlprocessor"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 3 {
		return errors.New("usage: substitution library|pipeline FILE SECONDS < VALUES")
	}
	text, err := os.ReadFile(arguments[1])
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseFloat(arguments[2], 64)
	if err != nil {
		return err
	}
	values := readValues()
	var substitute func() ([]byte, error)
	switch arguments[0] {
	case "library":
		template := string(text)
		substitute = func() ([]byte, error) { return library(template, values) }
	case "pipeline":
		processor := yamlprocessor.NewSimpleProcessor()
		lookup := func(name string) (string, error) {
			if value, found := values[name]; found {
				return value, nil
			}
			return "", fmt.Errorf("no value for %s", name)
		}
		substitute = func() ([]byte, error) { return processor.Process(text, lookup) }
	default:
		return fmt.Errorf("there is nothing to measure by the name %q", arguments[0])
	}
	return measure(substitute, time.Duration(seconds*float64(time.Second)))
}

func library(template string, values map[string]string) ([]byte, error) {
	parsed, err := envsubst.Parse(template)
	if err != nil {
		return nil, err
	}
	output, err := parsed.Execute(func(name string) string { return values[name] })
	return []byte(output), err
}

func readValues() map[string]string {
	values := map[string]string{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if name, value, found := strings.Cut(lines.Text(), "="); found {
			values[name] = value
		}
	}
	return values
}

func measure(substitute func() ([]byte, error), limit time.Duration) error {
	output, err := substitute()
	if err != nil {
		return err
	}
	var walls []time.Duration
	before, begun := processorTime(), time.Now()
	for time.Since(begun) < limit {
		start := time.Now()
		if _, err := substitute(); err != nil {
			return err
		}
		walls = append(walls, time.Since(start))
	}
	mean := (processorTime() - before) / time.Duration(len(walls))
	slices.Sort(walls)
	fmt.Printf("%d %d %d %x\n", walls[0].Nanoseconds(), walls[len(walls)/2].Nanoseconds(), mean.Nanoseconds(), sha256.Sum256(output))
	return nil
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
