package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
)

type request struct {
	Type         string   `json:"type"`
	ID           *int64   `json:"id"`
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
	lines, encoder := bufio.NewReader(requests), json.NewEncoder(replies)
	encoder.SetEscapeHTML(false)
	for number := int64(1); ; number++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		asked := request{}
		reply := Object{}
		if err := json.Unmarshal(line, &asked); err != nil {
			reply, asked = failure(err), request{ID: &number}
		} else if reply, err = answer(replica, &asked); err != nil {
			reply = failure(err)
		} else {
			reply["type"] = asked.Type
		}
		reply["id"] = asked.ID
		if err := encoder.Encode(reply); err != nil {
			return err
		}
		if reply["type"] == "bye" {
			return nil
		}
	}
}

func failure(err error) Object {
	code := "failed"
	if errors.As(err, new(Unsupported)) {
		code = "unsupported"
	}
	return Object{"type": "error", "code": code, "detail": err.Error()}
}

func answer(replica Replica, asked *request) (Object, error) {
	switch asked.Type {
	case "hello":
		hello := replica.Hello()
		hello["schema"] = "kraft-adapter/1"
		return hello, nil
	case "reset":
		if asked.Cluster == nil {
			return nil, errors.New("a reset without a cluster")
		}
		return Object{}, replica.Reset(asked.Replica, asked.Cluster)
	case "step":
		if asked.Crash != nil {
			return nil, Unsupported("a crash between two effects of one step")
		}
		if asked.Event == "" {
			return nil, errors.New("a step without an event")
		}
		return shown(replica.Step(asked.Event, asked.Message, asked.Input, asked.Draw))
	case "observe":
		state, err := replica.Observe()
		return Object{"state": state}, err
	case "crash":
		return Object{}, replica.Crash(asked.LogEndOffset)
	case "restart":
		return shown(replica.Restart(asked.Endpoint, asked.Draw))
	case "bye":
		return Object{}, nil
	case "":
		return nil, errors.New("a request without a type")
	}
	return nil, Unsupported("a request of the type " + asked.Type)
}

func shown(step Step, err error) (Object, error) {
	reply := Object{"effects": append([]Object{}, step.Effects...), "refusal": nil}
	if step.Refusal != "" {
		reply["refusal"] = step.Refusal
	}
	return reply, err
}
