package utils_test

import (
	"testing"

	"hark/playbook/jinja/answertest"
)

func TestAnswers(t *testing.T) { answertest.Run(t) }
