package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

type request struct {
	Type         string   `json:"type"`
	ID           int64    `json:"id"`
	Replica      int64    `json:"replica"`
	Cluster      *Cluster `json:"cluster"`
	Event        string   `json:"event"`
	Message      *Message `json:"message"`
	Input        Input    `json:"input"`
	Draw         Draw     `json:"draw"`
	Crash        any      `json:"crash"`
	LogEndOffset int64    `json:"log_end_offset"`
	Endpoint     *string  `json:"endpoint"`
}

// Serve answers a request on each line, until bye or the end of the input.  Nothing here needs a change.
func Serve(replica Replica, requests io.Reader, replies io.Writer) error {
	lines, encoder := bufio.NewScanner(requests), json.NewEncoder(replies)
	lines.Buffer(nil, 16<<20)
	encoder.SetEscapeHTML(false)
	for lines.Scan() {
		var asked request
		var reply Object
		err := json.Unmarshal(lines.Bytes(), &asked)
		if err == nil {
			reply, err = answer(replica, &asked)
		}
		if err != nil {
			code := "failed"
			if errors.As(err, new(Unsupported)) {
				code = "unsupported"
			}
			asked.Type, reply = "error", Object{"code": code, "detail": err.Error()}
		}
		reply["type"], reply["id"] = asked.Type, asked.ID
		if err := encoder.Encode(reply); err != nil || asked.Type == "bye" {
			return err
		}
	}
	return lines.Err()
}

// answer turns a panic into an error: one request that goes wrong does not end the run.
func answer(replica Replica, asked *request) (reply Object, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	if asked.Type == "" || asked.Type == "step" && asked.Event == "" {
		return nil, errors.New("a request without a type, or a step without an event")
	}
	reply = Object{}
	switch asked.Type {
	case "hello":
		reply = replica.Hello()
		reply["schema"] = "kraft-adapter/1"
	case "reset":
		err = replica.Reset(asked.Replica, asked.Cluster)
	case "step":
		if asked.Crash != nil {
			return nil, Unsupported("a crash between two effects of one step")
		}
		reply["effects"], err = replica.Step(asked.Event, asked.Message, asked.Input, asked.Draw)
	case "observe":
		reply["state"] = replica.Observe()
	case "crash":
		replica.Crash(asked.LogEndOffset)
	case "restart":
		reply["effects"], err = replica.Restart(asked.Endpoint, asked.Draw)
	case "bye":
	default:
		err = Unsupported("a request of the type '" + asked.Type + "'")
	}
	return reply, err
}
