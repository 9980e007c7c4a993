// Runs two programs by turns and compares them; see ../compare.sh, which calls it.
//
// usage: compare RUNS OURS THEIRS ARGUMENT...
//
// Prints the medians of wall time and of processor time (user and system) of RUNS runs each, the shortest wall times,
// and the largest resident memory. The kernel counts as a process's memory what its parent had when it was begun, so
// this program is a small one; what `true` shows, at the front, is the floor below which nothing can be seen.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"
)

type figures struct {
	walls, processor []time.Duration
	kilobytes        int64
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) < 3 {
		return errors.New("usage: compare RUNS OURS THEIRS ARGUMENT...")
	}
	runs, err := strconv.Atoi(arguments[0])
	if err != nil || runs < 1 {
		return fmt.Errorf("%q is no number of runs", arguments[0])
	}
	var ours, theirs, floor figures
	for range runs {
		if err := floor.add("true", nil); err != nil {
			return err
		}
		if err := ours.add(arguments[1], arguments[3:]); err != nil {
			return err
		}
		if err := theirs.add(arguments[2], arguments[3:]); err != nil {
			return err
		}
	}
	fmt.Printf("  floor       %s\n  capictl     %s\n  clusterctl  %s\n", &floor, &ours, &theirs)
	fmt.Printf("  ratio       wall 1/%.1f, cpu 1/%.1f, shortest 1/%.1f, memory 1/%.1f\n",
		ratio(median(theirs.walls), median(ours.walls)), ratio(median(theirs.processor), median(ours.processor)),
		ratio(slices.Min(theirs.walls), slices.Min(ours.walls)), float64(theirs.kilobytes)/float64(ours.kilobytes))
	return nil
}

// Runs a program once, its output to nowhere.
func (f *figures) add(program string, arguments []string) error {
	command := exec.Command(program, arguments...)
	begun := time.Now()
	if err := command.Run(); err != nil {
		return fmt.Errorf("`%s`: %w", command, err)
	}
	f.walls = append(f.walls, time.Since(begun))
	f.processor = append(f.processor, command.ProcessState.UserTime()+command.ProcessState.SystemTime())
	f.kilobytes = max(f.kilobytes, command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	return nil
}

func (f *figures) String() string {
	return fmt.Sprintf("wall %7.1f ms (shortest %7.1f)   cpu %7.1f ms   memory %6.1f MB",
		milliseconds(median(f.walls)), milliseconds(slices.Min(f.walls)), milliseconds(median(f.processor)),
		float64(f.kilobytes)*1024/1e6)
}

func median(values []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

func milliseconds(duration time.Duration) float64 {
	return float64(duration) / float64(time.Millisecond)
}

func ratio(one, other time.Duration) float64 { return float64(one) / float64(other) }
