// The walk of the README by a client that openapi-generator's go made. Needs the address of a public listener.
package main

import (
	"client"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
)

func must(ok bool, what ...any) {
	if !ok {
		panic(fmt.Sprint(what...))
	}
}

// The problem that a request was refused with.
func refused(err error, status int32) client.Problem {
	var failure *client.GenericOpenAPIError
	must(errors.As(err, &failure), "refused: ", err)
	var problem client.Problem
	must(json.Unmarshal(failure.Body(), &problem) == nil && problem.Status == status, string(failure.Body()))
	return problem
}

func done(response *http.Response, err error) *http.Response {
	must(err == nil, err)
	return response
}

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Args[1]}}
	api := client.NewAPIClient(configuration)
	// A body that is left out is sent as `null`.
	empty := *client.NewSessionCreation()
	created, response, err := api.SessionsAPI.CreateSession(context.Background()).SessionCreation(empty).Execute()
	done(response, err)
	signed := context.WithValue(context.Background(), client.ContextAccessToken, *created.Token)
	session := "current"

	_, response, err = api.ServicesAPI.GetProfile(signed, session).Execute()
	tag := done(response, err).Header.Get("ETag")
	patch := client.NewProfilePatch()
	patch.SetName("Ada")
	profile, response, err := api.ServicesAPI.PatchProfile(signed, session).ProfilePatch(*patch).IfMatch(tag).Execute()
	done(response, err)
	must(profile.GetName() == "Ada", profile)
	_, _, err = api.ServicesAPI.PatchProfile(signed, session).ProfilePatch(*patch).IfMatch(tag).Execute()
	must(refused(err, 412).Code == "precondition_failed", err)

	start := client.WizardJourneyStartAsJourneyStart(client.NewWizardJourneyStart("wizard"))
	journey, response, err := api.JourneysAPI.StartJourney(signed, session).JourneyStart(start).Execute()
	done(response, err)
	event := client.NewSignInEvent("sign_in")
	event.SetData(*client.NewWizardSignIn("Grace"))
	sent := client.SignInEventAsJourneyEvent(event)
	moved, response, err := api.JourneysAPI.SendEvent(signed, session, journey.Id).JourneyEvent(sent).Execute()
	done(response, err)
	must(moved.Step == 2, moved)
	_, _, err = api.JourneysAPI.SendEvent(signed, session, journey.Id).JourneyEvent(sent).Execute()
	must(refused(err, 409).Code == "event_not_accepted", err)

	done(api.SessionsAPI.EndSession(signed, session).Execute())
	_, _, err = api.SessionsAPI.GetSession(signed, session).Execute()
	refused(err, 401)
	fmt.Println("The generated client in Go took the whole walk.")
}
