// Command letters starts processes of Trustflow with the Temporal client of Go, submits a one-time password, and reads results.
package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"reflect"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
)

// A handler of Trustflow answers within 20 seconds; a later answer means that no worker runs.
const updateLimit = 30 * time.Second

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("usage: letters letter|certificate|otp|result ID")
	}
	switch verb, id := args[0], args[1]; verb {
	case "letter":
		return sendLetter(ctx, id)
	case "certificate":
		return issueCertificate(ctx, id)
	case "otp":
		return submitOtp(ctx, "issueCertificate/"+id)
	case "result":
		return showResult(ctx, id)
	default:
		return fmt.Errorf("unknown command %q", verb)
	}
}

func sendLetter(ctx context.Context, id string) error {
	pdf, err := os.ReadFile("../letter.pdf")
	if err != nil {
		return err
	}
	content, recipient, region := base64.StdEncoding.EncodeToString(pdf), "sandbox:delivered", "Madrid"
	affidavitWindow := 10
	input := SendPostalInput{
		Document:      SendPostalInputDocument{Base64: &content, MediaType: "application/pdf"},
		LookupKey:     &id,
		RecipientName: &recipient,
		RecipientAddress: SendPostalInputRecipientAddress{
			StreetAddress: "Calle Mayor 1", PostalCode: "28013", Locality: "Madrid", Region: &region, Country: "ES",
		},
		Settings: &SendPostalInputSettings{AffidavitWindowSeconds: &affidavitWindow},
	}
	if err := start(ctx, "sendPostal", id, input); err != nil {
		return err
	}
	return showResult(ctx, "sendPostal/"+id)
}

func issueCertificate(ctx context.Context, id string) error {
	text, err := os.ReadFile("../holder.json")
	if err != nil {
		return err
	}
	var input IssueCertificateInput
	if err := json.Unmarshal(text, &input); err != nil {
		return err
	}
	input.DisposableHolder.IdentificationCode = &id
	return start(ctx, "issueCertificate", id, input)
}

// Starts a process, or joins the one of the same id and input.
func start(ctx context.Context, process, id string, input any) error {
	workflowID := process + "/" + id
	temporalClient, err := connect(workflowID)
	if err != nil {
		return err
	}
	defer temporalClient.Close()
	_, err = temporalClient.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                                       workflowID,
		TaskQueue:                                "trustflow",
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
	}, process, input)
	var alreadyStarted *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &alreadyStarted) {
		err = requireSameInput(ctx, temporalClient, workflowID, input)
	}
	if err != nil {
		return err
	}
	fmt.Println(workflowID)
	return nil
}

// The first input is in the first event of the history, whichever client started the process.
func requireSameInput(ctx context.Context, temporalClient client.Client, workflowID string, input any) error {
	events := temporalClient.GetWorkflowHistory(ctx, workflowID, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	first, err := events.Next()
	if err != nil {
		return err
	}
	dataConverter, err := converterOf(workflowID)
	if err != nil {
		return err
	}
	var before, now any
	if err := dataConverter.FromPayloads(first.GetWorkflowExecutionStartedEventAttributes().GetInput(), &before); err != nil {
		return err
	}
	text, err := json.Marshal(input)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &now); err != nil {
		return err
	}
	if !reflect.DeepEqual(before, now) {
		return fmt.Errorf("%s was started with another input", workflowID)
	}
	return nil
}

func submitOtp(ctx context.Context, workflowID string) error {
	code, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil {
		return err
	}
	temporalClient, err := connect(workflowID)
	if err != nil {
		return err
	}
	defer temporalClient.Close()
	ctx, cancel := context.WithTimeout(ctx, updateLimit)
	defer cancel()
	update, err := temporalClient.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID:   workflowID,
		UpdateName:   "submitOtp",
		Args:         []any{map[string]string{"code": strings.TrimSpace(code)}},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	var answer struct{ Answer string }
	if err := update.Get(ctx, &answer); err != nil {
		return err
	}
	fmt.Println(answer.Answer)
	return nil
}

func showResult(ctx context.Context, workflowID string) error {
	temporalClient, err := connect(workflowID)
	if err != nil {
		return err
	}
	defer temporalClient.Close()
	var text json.RawMessage
	if err := temporalClient.GetWorkflow(ctx, workflowID, "").Get(ctx, &text); err != nil {
		return err
	}
	outcome, err := outcomeOf(workflowID, text)
	if err != nil {
		return err
	}
	fmt.Println(workflowID+":", outcome)
	return nil
}

func outcomeOf(workflowID string, text []byte) (string, error) {
	if strings.HasPrefix(workflowID, "sendPostal/") {
		var result SendPostalResult
		err := json.Unmarshal(text, &result)
		return string(result.Outcome), err
	}
	var result IssueCertificateResult
	err := json.Unmarshal(text, &result)
	return string(result.Outcome), err
}

// A client for one process: the write tag holds for its id alone.
func connect(workflowID string) (client.Client, error) {
	dataConverter, err := converterOf(workflowID)
	if err != nil {
		return nil, err
	}
	return client.Dial(client.Options{
		HostPort:      os.Getenv("TEMPORAL_ADDRESS"),
		Namespace:     namespace(),
		DataConverter: dataConverter,
		FailureConverter: temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
			DataConverter: dataConverter, EncodeCommonAttributes: true,
		}),
		Logger: quiet{},
	})
}

func converterOf(workflowID string) (converter.DataConverter, error) {
	ring, err := parseRing(os.Getenv("TRUSTFLOW_KEYS__CODEC"))
	if err != nil {
		return nil, fmt.Errorf("TRUSTFLOW_KEYS__CODEC: %w", err)
	}
	own := codec{ring: ring, namespace: namespace(), workflowID: workflowID}
	if text := os.Getenv("TRUSTFLOW_KEYS__CODEC_WRITE"); text != "" {
		if own.writeRing, err = parseRing(text); err != nil {
			return nil, fmt.Errorf("TRUSTFLOW_KEYS__CODEC_WRITE: %w", err)
		}
	}
	return converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), own), nil
}

func namespace() string {
	if name := os.Getenv("TEMPORAL_NAMESPACE"); name != "" {
		return name
	}
	return "default"
}

// The errors say what the log of the client would.
type quiet struct{}

var _ sdklog.Logger = quiet{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
